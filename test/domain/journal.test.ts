import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Begun,
  closed,
  decodeEntry,
  doneWith,
  type Entry,
  encodeEntry,
  endedBy,
  isOpen,
  openEntries,
  partsOf,
  slotOf,
  voided,
} from '../../src/domain/journal.ts';

type Readable = Exclude<Entry, { state: 'unreadable' }>;

const facts = {
  begunAt: fc.nat({ max: 2 ** 41 }),
  digest: fc.string({ unit: 'binary' }),
  reference: fc.string({ unit: 'binary' }),
};
const begun: fc.Arbitrary<Begun & { state: 'begun' }> = fc.record(
  { state: fc.constant('begun' as const), until: fc.nat({ max: 2 ** 41 }), input: fc.string(), ...facts },
  { requiredKeys: ['state', 'until', 'begunAt', 'digest'] },
);
const done = fc.record(
  { state: fc.constant('done' as const), outcome: fc.string({ unit: 'binary' }), ...facts },
  { requiredKeys: ['state', 'begunAt', 'digest'] },
);
const entry: fc.Arbitrary<Readable> = fc.oneof(begun, done, fc.constant({ state: 'void' } as const));
const effects = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), entry.map(encodeEntry), {
  noNullPrototype: true,
});
const first: Begun & { state: 'begun' } = { state: 'begun', begunAt: 1000, until: 9000, digest: '1:d' };

describe('slots', () => {
  test('a name alone, and with an index, come apart again', () => {
    const name = fc.stringMatching(/^[\w./:-]{1,64}$/);
    const index = fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { nil: undefined });
    fc.assert(
      fc.property(name, index, (given, place) => {
        expect(partsOf(slotOf(given, place))).toEqual({ name: given, index: place });
      }),
    );
  });

  test('index 0 is not the same as none, and 1 of `a` is not `a1`', () => {
    const slots = [
      slotOf('a', undefined),
      slotOf('a', 0),
      slotOf('a', 1),
      slotOf('a1', undefined),
      slotOf('a1', 0),
    ];
    expect(slots).toEqual(['a', 'a#0', 'a#1', 'a1', 'a1#0']);
  });
});

describe('entries', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(entry, (given) => {
        expect(decodeEntry(encodeEntry(given))).toEqual(given);
      }),
    );
  });

  test('the stored text is what it always was: the journal of one version is read by the next', () => {
    expect(encodeEntry(first)).toBe('1{"state":"begun","begunAt":1000,"until":9000,"digest":"1:d"}');
    expect(
      decodeEntry('1{"state":"done","begunAt":1,"digest":"1:d","reference":"psp","outcome":"1v1"}'),
    ).toEqual({
      state: 'done',
      begunAt: 1,
      digest: '1:d',
      reference: 'psp',
      outcome: '1v1',
    });
    expect(decodeEntry('1{"state":"void"}')).toEqual({ state: 'void' });
  });

  test.each(['', '1', '1{', '2{"state":"done"}', '{"state":"done"}', 'x', '1{"state":"begun"'])(
    '%j is not readable here: open, and left as it is by everything that changes entries',
    (text) => {
      expect(decodeEntry(text)).toEqual({ state: 'unreadable' });
      expect(isOpen(text)).toBe(true);
      expect(endedBy({ a: text }, 5)).toEqual({ a: text });
      expect(closed({ a: text })).toEqual({ a: text });
    },
  );

  test('open are those that are begun or not readable, and no others', () => {
    const texts = {
      b: encodeEntry(first),
      d: encodeEntry(doneWith(first, '1v1')),
      v: encodeEntry({ state: 'void' }),
    };
    expect(openEntries({ ...texts, u: '9?' })).toEqual({ b: texts.b, u: '9?' });
    expect(openEntries(undefined)).toEqual({});
    fc.assert(
      fc.property(effects, (given) => {
        expect(Object.values(openEntries(given)).every(isOpen)).toBe(true);
      }),
    );
  });
});

test('done keeps when it began, its digest and its reference; neither lease nor input', () => {
  fc.assert(
    fc.property(begun, fc.string(), (given, outcome) => {
      const { begunAt, digest, reference } = given;
      const wanted = {
        state: 'done',
        begunAt,
        digest,
        outcome,
        ...(reference !== undefined && { reference }),
      };
      expect(doneWith(given, outcome)).toEqual(wanted);
    }),
  );
});

describe('endedBy', () => {
  const until = (texts: Record<string, string>): unknown => {
    const seen = decodeEntry(texts.a ?? '');
    return seen.state === 'begun' ? seen.until : seen.state;
  };

  test.each([
    [8999, 8999],
    [9000, 9000],
    // of an attempt before this one: it has settled since then, and goes on from there
    [9001, 9000],
  ])('what ended at %s may have sent until %s', (now, wanted) => {
    expect(until(endedBy({ a: encodeEntry(first) }, now) as Record<string, string>)).toBe(wanted);
  });

  test('changes nothing else, and nothing more when it is said twice', () => {
    fc.assert(
      fc.property(effects, fc.nat({ max: 2 ** 41 }), (given, now) => {
        const once = endedBy(given, now);
        expect(endedBy(once, now)).toEqual(once);
        for (const [slot, text] of Object.entries(given)) {
          const [was, is] = [decodeEntry(text), decodeEntry(once[slot] ?? '')];
          expect(was.state === 'begun' ? { ...is, until: was.until } : is).toEqual(was);
        }
      }),
    );
  });
});

test('closed: what is done loses its result and nothing else; the rest stays', () => {
  fc.assert(
    fc.property(effects, (given) => {
      for (const [slot, text] of Object.entries(closed(given))) {
        const was = decodeEntry(given[slot] ?? '');
        const is = decodeEntry(text);
        expect(is).not.toHaveProperty('outcome');
        expect(
          was.state === 'done' && was.outcome !== undefined ? { ...is, outcome: was.outcome } : is,
        ).toEqual(was);
      }
      expect(Object.keys(closed(given))).toEqual(Object.keys(given));
    }),
  );
});

test('voided: the open ones may begin again; the others are not even named', () => {
  const texts = {
    b: encodeEntry(first),
    d: encodeEntry(doneWith(first, '1v1')),
    v: encodeEntry({ state: 'void' }),
  };
  expect(voided(texts)).toEqual({ b: '1{"state":"void"}' });
  fc.assert(
    fc.property(effects, (given) => {
      const all = voided(given);
      expect(Object.keys(all)).toEqual(Object.keys(openEntries(given)));
      expect(Object.values(all).some(isOpen)).toBe(false);
    }),
  );
});

test('voided: what this version cannot read it does not decide either', () => {
  expect(voided({ a: '2{"state":"begun"}' })).toEqual({ a: '2{"state":"begun"}' });
});
