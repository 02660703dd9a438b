import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { GroupsController } from './groups.controller.js';

/** The HTTP API for groups. */
@Module({
  imports: [AccountsModule],
  controllers: [GroupsController],
})
export class GroupsModule {}
