import { setTimeout as sleep } from 'node:timers/promises';
import { type Point, stoppingStore } from './points.ts';
import { chargeCard, type Order, shop, storeOf } from './shop.ts';

/** A process that takes orders over IPC. With a point to die at, it stops there and waits to be killed. */
export type Task =
  | { readonly does: 'die'; readonly order: Order; readonly point: Point }
  | { readonly does: 'deliver'; readonly order: Order };

// alive until it is killed, whatever it waits for
void sleep(120_000);

process.on('message', (task: Task) => void work(task));

async function work({ order, ...task }: Task): Promise<void> {
  const store = storeOf(order);
  const tell = (message: object): void => void process.send?.(message);
  const held = task.does === 'die' ? stoppingStore(store, task.point, () => tell({ stopped: true })) : store;
  const answer = await shop(order, held, chargeCard(order))();
  tell({ answer });
}

process.send?.({ ready: true });
