/** What happens to an order on its first attempt, or until somebody repairs the function. */
export type Fate =
  | 'well'
  /** Takes longer than the visibility timeout: the message is delivered again in mid-work. */
  | 'slow'
  /** Its process is killed after the claim and before the effect. */
  | 'killed'
  /** Fails until the function is repaired: its message ends in the dead-letter queue. */
  | 'stubborn';

/** One intent; `orderId` is its business key. */
export interface Order {
  readonly orderId: string;
  readonly fate: Fate;
  /** Message group, on the FIFO queue. */
  readonly group?: string;
}

/** All that the producer does, decided by a seed. */
export interface Plan {
  readonly orders: readonly Order[];
  readonly standard: readonly Order[];
  /** Groups interleaved; within a group in its order. */
  readonly fifo: readonly Order[];
  /** For each group, the order in which its effects must happen. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

/** How much there is to plan. */
export interface PlanSize {
  readonly standard: number;
  readonly groups: number;
  readonly perGroup: number;
  readonly shares: { readonly twice: number } & Readonly<Record<Exclude<Fate, 'well'>, number>>;
}

type Random = () => number;

/** Mulberry32: small, and the same on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Lays out orders and messages. Shares are exact on each queue; who is hit is the seed's choice. */
export function planRun(seed: number, { standard, groups, perGroup, shares }: PlanSize): Plan {
  const random = randomFrom(seed);
  const fates = (count: number): Fate[] => {
    const hit = (['slow', 'killed', 'stubborn'] as const).flatMap((fate) =>
      Array<Fate>(Math.round(count * shares[fate])).fill(fate),
    );
    return shuffled([...hit, ...Array<Fate>(count - hit.length).fill('well')], random);
  };
  const loose = fates(standard).map((fate, index): Order => ({ orderId: `s-${index}`, fate }));
  const strict = fates(groups * perGroup).map((fate, index): Order => {
    const group = `g-${index % groups}`;
    return { orderId: `f-${group}-${Math.floor(index / groups)}`, fate, group };
  });
  const twiceOf = (orders: readonly Order[]): Set<Order> =>
    new Set(shuffled(orders, random).slice(0, Math.round(orders.length * shares.twice)));
  return {
    orders: [...loose, ...strict],
    standard: shuffled([...loose, ...twiceOf(loose)], random),
    fifo: withLater(strict, twiceOf(strict), random),
    groups: orderOf(strict),
  };
}

function orderOf(orders: readonly Order[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { group = '', orderId } of orders) groups.set(group, [...(groups.get(group) ?? []), orderId]);
  return groups;
}

/** Puts a second copy of some somewhere behind the first. */
function withLater(orders: readonly Order[], twice: ReadonlySet<Order>, random: Random): Order[] {
  const messages = [...orders];
  for (const order of twice) {
    const first = messages.indexOf(order);
    messages.splice(first + 1 + Math.floor(random() * (messages.length - first)), 0, order);
  }
  return messages;
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const pile = [...items];
  for (let last = pile.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [pile[last], pile[other]] = [pile[other] as Item, pile[last] as Item];
  }
  return pile;
}
