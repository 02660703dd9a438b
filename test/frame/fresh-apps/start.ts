import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

export const start = () => NestFactory.create(AppModule, { logger: ['fatal', 'error', 'warn'] });
