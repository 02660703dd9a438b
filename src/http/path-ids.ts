import { BatchNotFoundError, MessageNotFoundError } from '@dundun/messaging';
import { Param } from '@nestjs/common';
import { isUUID } from 'class-validator';

const MESSAGE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d{1,7}$/;

/** A parameter of the path that is the id of a batch; another text gets 404. */
export function BatchId(name: string): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      if (!isUUID(value)) throw new BatchNotFoundError(value.slice(0, 36));
      return value.toLowerCase();
    },
  });
}

/** A parameter of the path that is the id of a message or of a batch; another text gets 404. */
export function MessageOrBatchId(name: string): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      const id = value.toLowerCase();
      if (!isUUID(id) && !MESSAGE_ID.test(id)) throw new MessageNotFoundError(value);
      return id;
    },
  });
}
