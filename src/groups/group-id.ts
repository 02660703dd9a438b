import { GroupNotFoundError, isGroupId } from '@dundun/messaging';
import { Param } from '@nestjs/common';

/** `{groupId}` of the path; what cannot be one is not found. */
export function GroupId(): ParameterDecorator {
  return Param('groupId', {
    transform: (value: string): string => {
      if (!isGroupId(value)) throw new GroupNotFoundError(value);
      return value;
    },
  });
}
