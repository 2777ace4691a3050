import { type KillOrder, killedOperation } from '../support/workers-killed.ts';

process.once('message', (order: KillOrder) => {
  process.env.AWS_ACCESS_KEY_ID = 'local';
  process.env.AWS_SECRET_ACCESS_KEY = 'local';
  // claims, says so, and is in the middle of its work for as long as it lives
  const working = (): Promise<never> => {
    process.send?.({ isRunning: true });
    return new Promise(() => {});
  };
  void killedOperation(order, 'hold', working)('k');
});
