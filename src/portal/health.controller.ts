import { Get } from '@nestjs/common';
import { Doctor } from '../doctor/doctor.service.js';
import type { Health } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';

/** What the gateway depends on, as `dundun doctor` examines it. */
@PortalController('health')
@PortalAccess('operator')
export class PortalHealthController {
  constructor(private readonly doctor: Doctor) {}

  @Get()
  async examine(): Promise<Health> {
    return { checks: await this.doctor.examine() };
  }
}
