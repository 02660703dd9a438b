import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestGateway } from './test-gateway.js';

describe('a gateway in production', () => {
  const before = new TestGateway();
  const started: TestGateway[] = [];

  /** On the tables of a gateway outside production. */
  async function production(settings: Record<string, string> = {}): Promise<TestGateway> {
    const { databaseUrl: DATABASE_URL } = before;
    const gateway = new TestGateway({
      ...settings,
      DATABASE_URL,
      NODE_ENV: 'production',
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    });
    started.push(gateway);
    return gateway.start();
  }

  beforeAll(async () => {
    await before.start();
    await before.stop();
  });
  afterAll(async () => {
    for (const gateway of [...started, before]) await gateway.destroy();
  });

  it('in production the page /docs is served with DOCS=true only', async () => {
    const statuses = async (settings: Record<string, string>): Promise<number[]> => {
      const gateway = await production(settings);
      const answers = await Promise.all(
        ['/docs', '/docs/', '/docs/swagger-ui-bundle.js', '/openapi.json'].map((path) =>
          fetch(gateway.url + path),
        ),
      );
      await gateway.stop();
      return answers.map(({ status }) => status);
    };
    expect(await statuses({})).toEqual([404, 404, 404, 200]);
    expect(await statuses({ DOCS: 'true' })).toEqual([200, 200, 200, 200]);
  });
});
