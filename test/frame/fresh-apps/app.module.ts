import { MessagingDashboardModule } from '@dundun/dashboard';
import { MessagingModule, simulator } from '@dundun/messaging';
import { inMemoryDatabase } from '@dundun/messaging/testing';
import { type CanActivate, type ExecutionContext, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Order } from './order.entity.js';
import { OrdersModule } from './orders.module.js';

class AdminGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest().headers['x-key'] === 'open';
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...inMemoryDatabase(), entities: [Order], synchronize: true }),
    EventEmitterModule.forRoot(),
    MessagingModule.forRoot({ transport: simulator(), isGlobal: true }),
    MessagingDashboardModule.forRoot({
      path: 'admin/messaging',
      guard: AdminGuard,
      // Of a bundle, which has no pages beside it.
      ...(process.env.DASHBOARD_FILES && { files: process.env.DASHBOARD_FILES }),
    }),
    OrdersModule,
  ],
})
export class AppModule {}
