/** Reading an exponent takes quadratic time in its digits, and a client may send millions of them. */
const longestPower = 1000;

/**
 * Canonical spelling of a JSON number. RFC 8785 spells a number as ECMAScript spells its double, which makes
 * 9007199254740993 and 9007199254740992 equal. Two order ids must never be equal, so an integer that a double cannot
 * carry keeps its own digits, and so does a number that a double flattens to zero or infinity.
 *
 * @throws RangeError for an exponent of more than a thousand digits
 */
export function canonicalNumber(literal: string): string {
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return survives(literal, value) ? spell(value) : exact(literal);
  const flattened = !Number.isFinite(value);
  const beyondDouble = Math.abs(value) > Number.MAX_SAFE_INTEGER && !survives(literal, value);
  return flattened || beyondDouble ? exact(literal) : spell(value);
}

/** RFC 8785, section 3.2.2.3: as ECMAScript does, and -0 is 0. */
export function spell(value: number): string {
  return String(value === 0 ? 0 : value);
}

/** Whether the double still means what was written. Only asked where the answer decides: fractions follow the RFC. */
function survives(literal: string, value: number): boolean {
  if (value !== 0 && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true;
  const { digits, exponent } = decimal(literal);
  if (value === 0) return digits === '';
  const spelled = decimal(String(value));
  return digits === spelled.digits && exponent === spelled.exponent;
}

function exact(literal: string): string {
  const { sign, digits, exponent } = decimal(literal);
  return `${sign}${digits}e${exponent}`;
}

/** Sign, significant digits without zeros at either end, and the power of ten behind the last of them. */
function decimal(literal: string): { sign: string; digits: string; exponent: bigint } {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]\+?(-?\d+))?$/.exec(literal) ?? [];
  const padded = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = trimZeros(padded);
  if (power.length > longestPower) throw new RangeError('an exponent that nobody writes');
  const exponent = BigInt(power) - BigInt(fraction.length) + BigInt(padded.length - digits.length);
  return { sign, digits, exponent };
}

/** Not a regular expression: `/0+$/` takes quadratic time on a long run of zeros that a client may send. */
function trimZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
