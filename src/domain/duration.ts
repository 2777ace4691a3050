/**
 * A length of time. The fields are added up: `{ hours: 1, minutes: 30 }` is ninety minutes. Bare numbers are refused
 * everywhere, because nobody can see whether `3600` meant seconds or milliseconds.
 */
export interface Duration {
  readonly days?: number | undefined;
  readonly hours?: number | undefined;
  readonly minutes?: number | undefined;
  readonly seconds?: number | undefined;
  readonly milliseconds?: number | undefined;
}

const milliseconds = { days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1000, milliseconds: 1 };
type Unit = keyof typeof milliseconds;

/** Milliseconds of a duration, rounded up to a whole one; `undefined` when it is not a duration at all. */
export function toMilliseconds(duration: unknown): number | undefined {
  if (typeof duration !== 'object' || duration === null || Array.isArray(duration)) return undefined;
  const parts = Object.entries(duration);
  if (parts.length === 0) return undefined;
  let total = 0;
  for (const [unit, amount] of parts) {
    if (!Object.hasOwn(milliseconds, unit)) return undefined;
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) return undefined;
    total += amount * milliseconds[unit as Unit];
  }
  return Math.ceil(total);
}
