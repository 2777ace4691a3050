/** CloudWatch metrics out of decisions. A subpath of its own: who does not use it does not carry it. */
export { emfMetrics, type MetricsOptions } from './lambda/metrics.ts';
