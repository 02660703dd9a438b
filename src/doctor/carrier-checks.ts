import type { MessagingService } from '@dundun/messaging';
import { MessagingConfigError } from '@dundun/messaging';
import { type ProviderBalance, SubmitFailure } from '@dundun/messaging/ports';
import type { Carrier } from '../carriers/carriers.js';
import { type Check, CheckError } from './check.js';

type Providers = Pick<MessagingService, 'checkProvider' | 'providers'>;
type Health = Awaited<ReturnType<Providers['providers']>>[number];

/**
 * A line for each carrier: whether it accepts, takes the credential, and has money left. The transport of a carrier
 * brings its own request (`checkAccount`).
 */
export function carrierChecks(carriers: readonly Carrier[], messaging: Providers): Check[] {
  // One read for all.
  let health: Promise<Health[]> | undefined;
  return carriers.map((carrier) => ({
    name: `carrier ${carrier.name}`,
    remedy: `check the settings of ${carrier.origin.place}, and that this machine reaches the carrier`,
    run: async (signal) => {
      health ??= messaging.providers();
      const own = (await health).find(({ name }) => name === carrier.name);
      const proof = await proofOf(carrier, messaging, own, signal);
      if (own && own.state !== 'up')
        throw new CheckError(
          `it accepts nothing now: ${own.pauseDetail ?? own.pauseReason}`,
          'the gateway tries again by itself; `npx dundun carriers` says when',
        );
      return proof;
    },
  }));
}

async function proofOf(
  { name, traits }: Carrier,
  messaging: Providers,
  health: Health | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (traits.isSimulated) return 'it simulates: nothing is delivered';
  // A further bind would take the place of one that sends.
  const { places } = health ?? {};
  if (places && places.taken > 0) return `the gateway has ${places.taken} of ${places.most} binds`;
  try {
    const account = await messaging.checkProvider(name, signal);
    if (!account) return 'its transport has no check of the account';
    return account.balance ? balanceText(account.balance) : 'it takes the credential';
  } catch (error) {
    if (!(error instanceof SubmitFailure || error instanceof MessagingConfigError)) throw error;
    throw new CheckError(error.message, undefined, { cause: error });
  }
}

/** @throws CheckError where nothing is left */
function balanceText({ amount, currency }: ProviderBalance): string {
  const money = currency === null ? amount : `${amount} ${currency}`;
  if (Number(amount) <= 0)
    throw new CheckError(
      `it takes the credential; the balance is ${money}`,
      'add funds at the carrier',
    );
  return `it takes the credential; the balance is ${money}`;
}
