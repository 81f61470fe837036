import { createService } from './create-service.ts';
import { deleteService } from './delete-service.ts';
import { findService } from './find-service.ts';
import { getService } from './get-service.ts';
import { listServices } from './list-services.ts';
import { showFee } from './show-fee.ts';
import { updateService } from './update-service.ts';

/** The operations on services, for main.ts and for the tests that serve them over a real bus. */
export const serviceOperations = (
  deps: Parameters<typeof createService>[0] &
    Parameters<typeof deleteService>[0] &
    Parameters<typeof getService>[0] &
    Parameters<typeof listServices>[0] &
    Parameters<typeof showFee>[0] &
    Parameters<typeof updateService>[0],
) => ({
  createService: createService(deps),
  deleteService: deleteService(deps),
  findService: findService(deps),
  getService: getService(deps),
  listServices: listServices(deps),
  showFee: showFee(deps),
  updateService: updateService(deps),
});
