import { environment } from '../names.ts';

/** The kill switch, read per call, so that a test or a console can throw it without a new deployment package. */
export function isSwitchedOff(): boolean {
  const value = process.env[environment.disabled];
  return value === '1' || value?.toLowerCase() === 'true';
}
