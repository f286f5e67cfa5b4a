extension EncodingStorage {
    /// Prepares an array for one more element.
    ///
    /// - Returns: Whether the element can be written now; if not, the record falls back to Foundation.
    @inline(__always)
    mutating func beginElement(depth: Int, start: Int) -> Bool {
        guard select(depth: depth, start: start) else { return false }
        // In bounds: `select` made the frame the innermost one.
        let frame = frames + depth
        if frame.pointee.position > 0 { output.append(UInt8(ascii: ",")) }
        frame.pointee.position &+= 1
        return true
    }
}
