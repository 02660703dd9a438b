import { MessageValidationError } from '../message/errors.js';
import type { SuppressOptions } from './contact.js';

export const CHANNELS: readonly string[] = ['sms', 'whatsapp', 'email', 'voice', 'vas'];

export function asArray<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

export function channelOf({ channel = '*' }: SuppressOptions): string {
  if (channel !== '*' && !CHANNELS.includes(channel))
    throw invalid('channel', `must be * or one of ${CHANNELS.join(', ')}`);
  return channel;
}

export function invalid(path: string, message: string): MessageValidationError {
  return new MessageValidationError([{ path, message }]);
}
