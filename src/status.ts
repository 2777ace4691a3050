/** "Did it happen?" A subpath of its own: handlers do not carry it. */
export { type OperationStatus, type StatusOptions, statusHandler } from './lambda/status-handler.ts';
