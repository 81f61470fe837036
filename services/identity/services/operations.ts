import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { checkServiceDomain } from './check-service-domain.ts';
import { createService } from './create-service.ts';
import { deleteService } from './delete-service.ts';
import { findService } from './find-service.ts';
import { getService } from './get-service.ts';
import { listServices } from './list-services.ts';
import { showFee } from './show-fee.ts';
import { updateService } from './update-service.ts';

/** The operations on services. */
export const serviceOperations = (deps: Records & Terms & Peers & { sendMailsNow: () => void }) => ({
  checkServiceDomain: checkServiceDomain(deps),
  createService: createService(deps),
  deleteService: deleteService(deps),
  findService: findService(deps),
  getService: getService(deps),
  listServices: listServices(deps),
  showFee: showFee(deps),
  updateService: updateService(deps),
});
