// Declarations that the guide mentions but does not show.

import Bodega

let engine = MemoryStorageEngine()
let key = CacheKey("settings")
func startAfresh() {}
