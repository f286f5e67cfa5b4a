// What code that imports CodableStoreKit also sees: errors, folders, and the engine that a bridge is made with.
@_exported public import Bodega
