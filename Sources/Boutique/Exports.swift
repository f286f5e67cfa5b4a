// Exported: the engines and keys for creating a store, and the publishers of stores and property wrappers.
@_exported public import Bodega
#if canImport(Combine)
@_exported public import Combine
#else
@_exported public import OpenCombine
#endif
