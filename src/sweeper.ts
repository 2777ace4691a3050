/** The scheduled sweeper. A subpath of its own: handlers do not carry it. */
export { type SweepOptions, sweepHandler } from './lambda/sweep-handler.ts';
export type { OpenRecord, SweepReport } from './lambda/sweep-pass.ts';
