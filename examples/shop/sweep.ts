import { dynamoStore } from 'lambda-once';
import { sweepHandler } from 'lambda-once/sweeper';
import { chargeCard } from './charge-card.ts';

/** On a schedule: asks the processor about charges that a crash left open, and frees their payments. */
export const handler = sweepHandler({ store: dynamoStore(), effects: [chargeCard] });
