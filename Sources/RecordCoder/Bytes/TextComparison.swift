/// Whether two texts of the same length are equal. Only the first `count` bytes of each are read.
@inline(__always)
func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
    let left = UnsafeRawPointer(left)
    let right = UnsafeRawPointer(right)
    if count >= 8 {
        var index = 0
        while index &+ 8 <= count {
            if load8(left + index) != load8(right + index) { return false }
            index &+= 8
        }
        // The last eight bytes, which may overlap those already compared.
        return load8(left + (count &- 8)) == load8(right + (count &- 8))
    }
    if count >= 4 {
        return load4(left) == load4(right) && load4(left + (count &- 4)) == load4(right + (count &- 4))
    }
    for index in 0..<count
    where left.load(fromByteOffset: index, as: UInt8.self) != right.load(fromByteOffset: index, as: UInt8.self) {
        return false
    }
    return true
}

@inline(__always)
private func load8(_ address: UnsafeRawPointer) -> UInt64 { address.loadUnaligned(as: UInt64.self) }

@inline(__always)
private func load4(_ address: UnsafeRawPointer) -> UInt32 { address.loadUnaligned(as: UInt32.self) }
