// Declarations that the page mentions but does not show.

import BodegaSync
