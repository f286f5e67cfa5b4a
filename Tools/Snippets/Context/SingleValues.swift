// What the guide speaks of and does not show.

import Bodega

let engine = MemoryStorageEngine()
