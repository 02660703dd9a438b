import { Outbox } from './outbox.js';
import { TestClock } from './test-clock.js';
import { TestEngine } from './test-engine.js';

/** Parts of one module of the kit, in place of an app's own. */
export class KitParts {
  readonly clock = new TestClock();
  readonly engine = new TestEngine(this.clock);
  readonly outbox = new Outbox();

  constructor(
    /** The database is the kit's, and not a data source of the app. */
    readonly ownsDatabase: boolean,
  ) {}
}
