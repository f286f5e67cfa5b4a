// Combine is OpenCombine under another name.

@_exported import OpenCombine
