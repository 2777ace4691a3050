import fc from 'fast-check';

/** A JSON value as JavaScript has it. */
export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain };

/** A decision: a whole number from 0 up to, not including, `below`. */
export type Random = (below: number) => number;

export function isObject(value: Plain): value is { [name: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names that trip implementations, beside arbitrary ones. */
const name = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    'length',
    '0',
    '10',
    '',
    'é',
    '\u{1f600}',
    '\ufb33',
    '$once',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }).filter((text) => text !== '\0'),
);

/** Numbers whose double keeps its meaning: what is past it, a parser has lost before we see it. */
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -1000, max: 1000 }).map((cents) => cents / 100),
);

const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('"', '\\', '\n', '\ud800', '\udc00'),
  ),
  maxLength: 6,
});

/** Any JSON value; never -0, which is 0 to JSON. */
export const anyValue: fc.Arbitrary<Plain> = fc.letrec<{ value: Plain }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Plain>(null, true, false, 0, ''),
    number.map((each) => (each === 0 ? 0 : each)),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    // fromEntries defines `__proto__` like any other name
    fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map((members) => Object.fromEntries(members)),
  ),
})).value;

/** The value as one of the many JSON texts that mean it. */
export function print(value: Plain, choose: Random): string {
  const space = (): string => ['', ' ', '\n', '\t \r\n'][choose(4)] ?? '';
  const inner = (): string => {
    if (typeof value === 'number') return printNumber(value, choose);
    if (typeof value === 'string') return printText(value, choose);
    if (Array.isArray(value)) return `[${value.map((item) => print(item, choose)).join(',') || space()}]`;
    if (!isObject(value)) return String(value);
    const members = Object.entries(value).map(
      ([each, item]) =>
        [choose(1000), `${space()}${printText(each, choose)}${space()}:${print(item, choose)}`] as const,
    );
    members.sort(([one], [other]) => one - other);
    return `{${members.map(([, member]) => member).join(',') || space()}}`;
  };
  return `${space()}${inner()}${space()}`;
}

function printNumber(value: number, choose: Random): string {
  const spellings = [JSON.stringify(value), value.toExponential(), value.toExponential().toUpperCase()];
  if (Number.isSafeInteger(value)) spellings.push(`${value}.0`, `${value}e0`, `${value}.00E+0`);
  spellings.push(
    ...(value === 0 ? ['-0', '0e7', '-0.0'] : Number.isSafeInteger(value) ? [`${value}0e-1`] : []),
  );
  return spellings[choose(spellings.length)] ?? '';
}

function printText(value: string, choose: Random): string {
  const units = value.split('').map((unit) => {
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    if (choose(3) === 0) return choose(2) === 0 ? escaped : escaped.toUpperCase().replace('U', 'u');
    if (unit === '/' && choose(2) === 0) return '\\/';
    return unit;
  });
  // what must be escaped, and a lone surrogate, which has no bytes of its own
  const raw = units.map((unit) => (/^["\\\p{Cc}]$/u.test(unit) ? JSON.stringify(unit).slice(1, -1) : unit));
  return `"${raw.join('')}"`;
}
