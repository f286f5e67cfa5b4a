extension EncodingState {
    /// Writes a finite number.
    @inline(__always)
    func write(_ value: Double, depth: Int) throws {
        guard value.isFinite else { throw notRepresentable(value, named: "Double", depth: depth) }
        storage.pointee.output.append(value)
    }

    /// Writes a finite number.
    @inline(__always)
    func write(_ value: Float, depth: Int) throws {
        guard value.isFinite else { throw notRepresentable(value, named: "Float", depth: depth) }
        storage.pointee.output.append(value)
    }

    /// The error for a non-finite number. The value's `encode(to:)` may catch it; the caller sees Foundation's error.
    @inline(never)
    private func notRepresentable(_ value: some BinaryFloatingPoint, named type: String, depth: Int) -> EncodingError {
        let path = storage.pointee.codingPath(depth: depth, start: storage.pointee.output.count)
        storage.pointee.giveUp()
        let description = "Unable to encode \(type).\(value) directly in JSON."
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }
}
