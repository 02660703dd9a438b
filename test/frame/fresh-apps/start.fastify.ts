import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

export const start = () =>
  NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['fatal', 'error', 'warn'] });
