import type { Store } from '../../src/index.ts';
import { booking, type CommitOrder } from '../support/workers-booking.ts';

process.on('message', (order: CommitOrder) => {
  process.env.AWS_ACCESS_KEY_ID = 'local';
  process.env.AWS_SECRET_ACCESS_KEY = 'local';
  const halt = (): Promise<never> => {
    process.send?.({ stopped: true });
    return new Promise(() => {});
  };
  const stopping = (store: Store): Store => ({
    ...store,
    commit: async (commit, limits) => {
      if (order.dies === 'before') return halt();
      const committed = await store.commit(commit, limits);
      return order.dies === 'after' ? halt() : committed;
    },
  });
  void booking(order, stopping)();
});
