import { MessagingModule, simulator } from '@dundun/messaging';
import { inMemoryDatabase } from '@dundun/messaging/testing';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OrdersModule } from './orders.module.js';

@Module({
  imports: [
    TypeOrmModule.forRoot(inMemoryDatabase()),
    EventEmitterModule.forRoot(),
    MessagingModule.forRoot({ transport: simulator(), isGlobal: true }),
    OrdersModule,
  ],
})
export class AppModule {}
