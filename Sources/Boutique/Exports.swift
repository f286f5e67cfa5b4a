// What code that imports Boutique also sees: the engines and keys that a store is made with, and the publishers that it
// and its property wrappers hand out.
@_exported public import Bodega
#if canImport(Combine)
@_exported public import Combine
#else
@_exported public import OpenCombine
#endif
