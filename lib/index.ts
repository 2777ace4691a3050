/** The constructs. `aws-cdk-lib` and `constructs` are peers; nothing of the runtime is loaded. */
export type { OnceRole } from './access.ts';
export type { OnceMetricOptions } from './metrics.ts';
export { OnceAlarms, type OnceAlarmsProps } from './once-alarms.ts';
export { OnceDashboard, type OnceDashboardProps } from './once-dashboard.ts';
export { OnceOutbox, type OnceOutboxProps } from './once-outbox.ts';
export { OnceQueueConsumer, type OnceQueueConsumerProps } from './once-queue-consumer.ts';
export { OnceSweeper, type OnceSweeperProps } from './once-sweeper.ts';
export { OnceTable, type OnceTableProps } from './once-table.ts';
