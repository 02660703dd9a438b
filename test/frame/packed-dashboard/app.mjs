import 'reflect-metadata';
import { MessagingDashboardModule } from '@dundun/dashboard';
import { MessagingModule, simulator } from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createRequire } from 'node:module';
import { DataSource } from 'typeorm';

/** Prints the answers of a dashboard with the guard open, and with the guard closed. */

const [platform, prefix, database, driver] = process.argv.slice(2);
const { SqliteDriver } = await import(driver);

const guard = {
  canActivate: (context) => context.switchToHttp().getRequest().headers['x-key'] === 'open',
};

class DatabaseModule {}
Module({
  providers: [
    {
      provide: DataSource,
      useFactory: () =>
        new DataSource({ type: 'better-sqlite3', database, driver: SqliteDriver }).initialize(),
    },
  ],
  exports: [DataSource],
})(DatabaseModule);

class App {}
Module({
  imports: [
    { module: DatabaseModule, global: true },
    MessagingModule.forRoot({ transport: simulator(), callbackPath: false }),
    MessagingDashboardModule.forRoot({ path: 'admin/messaging', guard }),
  ],
})(App);

const { ExpressAdapter } = await import('@nestjs/platform-express');
const { FastifyAdapter } = await import('@nestjs/platform-fastify');
const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
const app = await NestFactory.create(App, adapter, { logger: ['fatal', 'error'] });
if (prefix) app.setGlobalPrefix(prefix);
await app.listen(0, '127.0.0.1');
const origin = await app.getUrl();
const path = `${prefix ? `/${prefix}` : ''}/admin/messaging`;

const ask = async (at, key, init = {}) => {
  const answer = await fetch(new URL(at, origin), {
    ...init,
    headers: { 'x-key': key, 'content-type': 'application/json' },
  });
  return { answer, text: await answer.text() };
};
const page = await ask(path, 'open');
const base = new URL(/<base href="([^"]*)"/.exec(page.text)[1], origin + path).pathname;
const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(page.text)[1];
const requests = {
  page: [path],
  link: [`${path}/messages/0190-1`],
  asset: [base + script],
  unknown: [`${base}assets/none.js`],
  context: [`${base}api/context`],
  messages: [`${base}api/messages?limit=1`],
  send: [`${base}api/messages`, { method: 'POST', body: '{}' }],
};
const answers = async (key) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(requests).map(async ([name, [at, init]]) => {
        const { answer } = await ask(at, key, init);
        return [name, [answer.status, answer.headers.get('content-type')]];
      }),
    ),
  );
const [open, closed] = [await answers('open'), await answers('wrong')];
const { version } = createRequire(import.meta.resolve('@dundun/dashboard'))(
  '@nestjs/core/package.json',
);
await app.close();
console.log(JSON.stringify({ version, open, closed }));
