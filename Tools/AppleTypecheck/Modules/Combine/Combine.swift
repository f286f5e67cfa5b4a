// Combine is OpenCombine under another name, as soon as the package depends on it.

#if canImport(OpenCombine)
@_exported import OpenCombine
#endif
