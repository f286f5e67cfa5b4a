/// The mutable state of a record being written: its bytes so far, and the open objects and arrays.
///
/// It is behind one pointer, because Swift checks each access to a class's variable for exclusivity at run time.
///
/// An encoder or container identifies its frame by depth and start offset, which together are unique within a record. A
/// write to a frame ends the frames above it. A write out of order, such as to a frame that has ended, makes the record
/// fall back to Foundation: see ``giveUp()``.
struct EncodingStorage {
    /// The maximum number of open frames, the same as the nesting limit of Foundation's writer.
    static let depthLimit = 511

    var output: OutputBuffer
    /// Memory for `depthLimit` frames. Frames are trivial, so the memory needs no initialization or deinitialization.
    let frames: UnsafeMutablePointer<EncodingFrame>
    /// The number of open frames: from 0 to `depthLimit`, or -1 after `giveUp()`.
    private(set) var frameCount = 0
    /// The keys of open objects that use no table.
    var keySets: [Set<String>] = []
    /// The number of `keySets` that belong to open frames.
    var keySetCount = 0
    var keyTables = KeyTables()
    /// The dictionary keys that coding paths have read so far, by the offsets of their JSON.
    var dictionaryKeys: [Int: PathKey] = [:]
    /// The types that are encoded directly.
    let directTypes = TypeCache<(any DirectlyEncodable.Type)?>()
    /// The caller's context for the encoded values.
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Allocates the memory. The owner must deallocate it.
    init() {
        output = OutputBuffer(capacity: 1024)
        frames = .allocate(capacity: Self.depthLimit)
    }

    /// Frees the memory. The storage must not be used afterwards.
    func deallocate() {
        output.deallocate()
        frames.deallocate()
        keyTables.deallocate()
        directTypes.deallocate()
    }

    mutating func begin() {
        output.removeAll()
        frameCount = 0
        keySetCount = 0
        if !dictionaryKeys.isEmpty { dictionaryKeys = [:] }
        keyTables.makeRoom()
    }

    /// Whether the record falls back to Foundation.
    @inline(__always)
    var hasGivenUp: Bool { frameCount < 0 }

    /// Falls back to Foundation: discards the output so far and ignores further writes.
    ///
    /// Afterwards no frame is open and every depth is invalid, so each further write fails its first check.
    @inline(never)
    mutating func giveUp() {
        // Escaped containers, which may be used on any thread, only read the count then.
        if frameCount >= 0 { frameCount = -1 }
    }

    // MARK: Frames

    /// Whether a frame is open and the innermost one.
    @inline(__always)
    func isInnermost(depth: Int, start: Int) -> Bool {
        // In bounds: depth == frameCount - 1, and frameCount is at most depthLimit; depth is never negative.
        frameCount == depth &+ 1 && frames[depth].start == start
    }

    /// Whether a frame is open.
    func isOpen(depth: Int, start: Int) -> Bool {
        // In bounds: depth < frameCount.
        frameCount > depth && frames[depth].start == start
    }

    /// Makes a frame the innermost one by ending the frames above it.
    ///
    /// - Returns: Whether it succeeded; if not, the record falls back to Foundation.
    @inline(__always)
    mutating func select(depth: Int, start: Int) -> Bool {
        isInnermost(depth: depth, start: start) || endFrames(above: depth, start: start)
    }

    /// Ends the frames above one that is open.
    @inline(never)
    private mutating func endFrames(above depth: Int, start: Int) -> Bool {
        guard isOpen(depth: depth, start: start) else {
            giveUp()
            return false
        }
        return endFrames(downTo: depth + 1)
    }

    /// Ends frames until at most a number of them is open.
    ///
    /// - Returns: Whether it succeeded; if not, the record falls back to Foundation.
    @inline(__always)
    mutating func endFrames(downTo count: Int) -> Bool {
        while frameCount > count { endFrame() }
        return !hasGivenUp
    }

    /// Begins an object or array at the end of the output.
    ///
    /// - Parameters:
    ///   - kind: The kind of the frame.
    ///   - depth: The frame's depth. If it isn't the number of open frames, the record falls back to Foundation.
    ///   - isDirect: Whether a collection is written directly.
    /// - Returns: Whether the frame has begun; if not, the record falls back to Foundation.
    @inline(__always)
    mutating func beginFrame(_ kind: EncodingFrame.Kind, depth: Int, isDirect: Bool = false) -> Bool {
        guard depth == frameCount, depth < Self.depthLimit else {
            giveUp()
            return false
        }
        // In bounds: depth < depthLimit.
        (frames + depth).initialize(to: EncodingFrame(kind: kind, isDirect: isDirect, start: output.count))
        frameCount = depth &+ 1
        output.append(kind.opening)
        return true
    }

    /// Ends the innermost frame; there must be one.
    ///
    /// If its last key has no value, such as one due from a superclass's encoder, the record falls back to Foundation.
    @inline(__always)
    mutating func endFrame() {
        // In bounds: 0 < frameCount <= depthLimit.
        let frame = frames + (frameCount &- 1)
        // In bounds: there is a last byte, at least the opening bracket.
        if output.last == UInt8(ascii: ":") { return giveUp() }
        if frame.pointee.keySet >= 0 { keySetCount = frame.pointee.keySet }
        output.append(frame.pointee.kind.closing)
        frameCount &-= 1
    }

    /// The progress of an open frame: the number of its elements, or the index of its last key; -1 if there is none.
    @inline(__always)
    func position(at depth: Int) -> Int {
        // In bounds: 0 <= depth < frameCount.
        depth >= 0 && depth < frameCount ? frames[depth].position : -1
    }

    // MARK: Values

    /// Whether a value's place is still empty.
    ///
    /// - Parameters:
    ///   - depth: The number of enclosing frames.
    ///   - start: The offset at which it starts.
    @inline(__always)
    func isVacant(depth: Int, start: Int) -> Bool {
        output.count == start && frameCount == depth
    }

    /// Checks that a value can be written in its place.
    ///
    /// - Returns: Whether it can be written; if not, the record falls back to Foundation.
    @inline(__always)
    mutating func claim(depth: Int, start: Int) -> Bool {
        if isVacant(depth: depth, start: start) { return true }
        giveUp()
        return false
    }

    /// Completes a value that has encoded itself.
    ///
    /// As in Foundation, a value that wrote nothing is an empty object. At the top level Foundation throws an error.
    @inline(__always)
    mutating func endValue(depth: Int, start: Int) {
        if output.count == start {
            if depth == 0 { return giveUp() }
            output.append(word: 0x7D7B, count: 2)
        } else {
            _ = endFrames(downTo: depth)
        }
    }
}
