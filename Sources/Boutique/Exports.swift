// Exported: the engines and keys for creating a store, and the publishers of stores and property wrappers. All files of
// the module see them, too, so that this one alone decides between Combine and OpenCombine.
@_exported public import Bodega
#if canImport(Combine)
@_exported public import Combine
#else
@_exported public import OpenCombine
#endif
