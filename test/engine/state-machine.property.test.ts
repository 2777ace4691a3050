import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Action, action, Model } from '../support/contract-model.ts';

/**
 * Three workers on one record, their clocks up to 2.8 seconds apart, which is less than the skew that is allowed for.
 * Any of their writes may lose its reply, get lost itself, arrive twice, or arrive when its sender has long given up.
 * After every step the model checks what must always hold; see `Model.check`.
 */
const offsets = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -1400, max: 1400 })));
const steps = fc.array(action, { minLength: 20, maxLength: 80, size: 'max' });

const everywhere = [
  'run',
  'replay',
  'busy',
  'store',
  'finish refused',
  'late applied',
  'late applied-before',
  'late refused',
  'claim absent applied',
  'claim claimed applied-before',
  'claim completed applied',
  'take-over released applied',
  'complete claimed applied',
  'complete claimed refused',
  'complete completed applied-before',
  'release claimed applied',
  'release claimed refused',
  'release released applied-before',
];
const own = {
  rerun: ['take-over claimed applied', 'take-over claimed refused'],
  hold: ['in-doubt', 'doubt claimed applied', 'complete in-doubt applied', 'claim in-doubt refused'],
};

for (const onLapse of ['rerun', 'hold'] as const) {
  test(`S01 S03 S04 S05: no interleaving of three workers breaks the state machine (onLapse: ${onLapse})`, async () => {
    const reached = new Set<string>();
    const property = fc.asyncProperty(offsets, steps, async (clocks, actions: Action[]) => {
      const model = new Model(onLapse, clocks, reached);
      for (const each of actions) await model.step(each);
    });
    await fc.assert(property, { numRuns: 1500 });
    // a model that never gets anywhere would hold as well
    for (const place of [...everywhere, ...own[onLapse]]) expect(reached).toContain(place);
  });
}
