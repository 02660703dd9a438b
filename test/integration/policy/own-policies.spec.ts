import { expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  MESSAGING_POLICY,
  MessagingModule,
  type MessagingPolicy,
  type PolicyOptions,
  PolicyService,
  simulator,
  type PolicyDecisions,
} from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';

class Named implements MessagingPolicy {
  constructor(readonly name: string) {}
  decide = async (): Promise<PolicyDecisions> => new Map();
}
@Injectable()
class First extends Named {
  constructor() {
    super('first');
  }
}
@Injectable()
class Second extends Named {
  constructor() {
    super('second');
  }
}

@Module({
  providers: [
    First,
    Second,
    {
      provide: MESSAGING_POLICY,
      useFactory: (...all: MessagingPolicy[]) => all,
      inject: [First, Second],
    },
  ],
})
class TwoPolicies {}

@Module({ providers: [{ provide: MESSAGING_POLICY, useValue: new Named('third') }] })
class OnePolicy {}

describeEachDatabase(
  'an app’s own policies',
  (database) => {
    const boot = (policy: PolicyOptions, extra: ModuleMetadata): Promise<TestingModule> =>
      Test.createTestingModule({
        ...extra,
        imports: [
          TypeOrmModule.forRoot(database.options()),
          MessagingModule.forRoot({ transport: simulator(), callbackPath: false, policy }),
          ...(extra.imports ?? []),
        ],
      })
        .compile()
        .then((app) => app.init());

    async function asked(policy: PolicyOptions): Promise<string[]> {
      const app = await boot(policy, { imports: [TwoPolicies, OnePolicy] });
      const [explanation] = await app.get(PolicyService).explain({
        channel: 'sms',
        from: 'ACME',
        to: '2348012345678',
        content: { kind: 'text', text: 'Hi' },
      });
      await app.close();
      return explanation!.decisions.map((one) => one.policy);
    }

    it("an app's policies run after the built-in ones, from any module", async () => {
      expect((await asked({})).slice(-3).toSorted()).toEqual(['first', 'second', 'third']);
    });

    it('policies are ordered and removed by name', async () => {
      const order = await asked({ order: ['second', 'opted-out'], remove: ['third', 'first'] });
      expect(order.slice(0, 2)).toEqual(['second', 'opted-out']);
      expect(order).not.toContain('third');
      expect(order).not.toContain('first');
    });

    it('two policies provided under one token in one module fail the boot', async () => {
      const providers = [First, Second].map((useClass) => ({
        provide: MESSAGING_POLICY,
        useClass,
      }));
      await expect(boot({}, { providers })).rejects.toThrow(
        /MESSAGING_POLICY: RootTestModule provides it more than once/,
      );
    });
  },
  ['sqlite'],
);
