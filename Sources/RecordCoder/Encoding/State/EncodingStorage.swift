/// What changes while a record is written: its bytes so far, and the objects and arrays that are still open.
///
/// It lies behind one pointer, as the variables of a class would be checked for exclusive access at each use.
///
/// Whoever writes names a frame by its depth and by the offset at which it starts, and the two of them never mean another
/// frame than the one that they meant first. A write to a frame ends the frames above it. What doesn't fit into that order,
/// such as a write to a frame that has been ended, is left to Foundation: see ``giveUp()``.
struct EncodingStorage {
    /// How many frames there may be at once: as many as Foundation's writer can nest.
    static let depthLimit = 511

    /// The bytes so far.
    var output: OutputBuffer
    /// Room for `depthLimit` frames; frames are trivial, so there is nothing to be initialized or deinitialized.
    let frames: UnsafeMutablePointer<EncodingFrame>
    /// How many frames are open: from 0 to `depthLimit`, and -1 after `giveUp()`.
    private(set) var frameCount = 0
    /// The keys of objects that have no table, for the open ones of them.
    var keySets: [Set<String>] = []
    /// How many of `keySets` belong to open frames.
    var keySetCount = 0
    /// The tables of keys.
    var keyTables = KeyTables()
    /// The keys of dictionaries that coding paths were asked for, by the offsets of their JSON.
    var dictionaryKeys: [Int: PathKey] = [:]
    /// How types are encoded directly.
    let directTypes = TypeCache<(any DirectlyEncodable.Type)?>()
    /// What the caller tells the values that are encoded.
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Allocates what it needs, which its owner has to deallocate.
    init() {
        output = OutputBuffer(capacity: 1024)
        frames = .allocate(capacity: Self.depthLimit)
    }

    /// Frees all memory; it must not be used afterwards.
    func deallocate() {
        output.deallocate()
        frames.deallocate()
        keyTables.deallocate()
        directTypes.deallocate()
    }

    /// Begins another record.
    mutating func begin() {
        output.removeAll()
        frameCount = 0
        keySetCount = 0
        if !dictionaryKeys.isEmpty { dictionaryKeys = [:] }
        keyTables.makeRoom()
    }

    /// Whether the record is left to Foundation.
    @inline(__always)
    var hasGivenUp: Bool { frameCount < 0 }

    /// Leaves the record to Foundation: what has been written doesn't matter any more, and nothing else will be.
    ///
    /// From then on no frame is open, and no depth is the right one, so each later write ends at its first check.
    @inline(never)
    mutating func giveUp() {
        // Containers that are used after their call, on whatever threads, only read then.
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

    /// Makes a frame the innermost one.
    ///
    /// - Returns: Whether it is; if not, the record is left to Foundation.
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

    /// Ends frames until there are no more than a number of them.
    ///
    /// - Returns: Whether that went well; if not, the record is left to Foundation.
    @inline(__always)
    mutating func endFrames(downTo count: Int) -> Bool {
        while frameCount > count { endFrame() }
        return !hasGivenUp
    }

    /// Begins an object or array in the place of the next value.
    ///
    /// - Parameters:
    ///   - kind: Which of them.
    ///   - depth: The depth that it has; if that isn't the number of open frames, the record is left to Foundation.
    ///   - isDirect: Whether a collection is written directly.
    /// - Returns: Whether it has begun; if not, the record is left to Foundation.
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
    /// If it still waits for a value, such as one that a superclass's encoder was to write, the record is left to
    /// Foundation.
    @inline(__always)
    mutating func endFrame() {
        // In bounds: 0 < frameCount <= depthLimit.
        let frame = frames + (frameCount &- 1)
        // There is a last byte: at least the opening bracket.
        if output.last == UInt8(ascii: ":") { return giveUp() }
        if frame.pointee.keySet >= 0 { keySetCount = frame.pointee.keySet }
        output.append(frame.pointee.kind.closing)
        frameCount &-= 1
    }

    /// How far an open frame has got: the number of its elements, or the place of its last key; -1 if there is none.
    @inline(__always)
    func position(at depth: Int) -> Int {
        // In bounds: 0 <= depth < frameCount.
        depth >= 0 && depth < frameCount ? frames[depth].position : -1
    }

    // MARK: Values

    /// Whether nothing has been written yet where a value is to be written.
    ///
    /// - Parameters:
    ///   - depth: How many frames the value lies in.
    ///   - start: The offset at which it starts.
    @inline(__always)
    func isVacant(depth: Int, start: Int) -> Bool {
        output.count == start && frameCount == depth
    }

    /// Makes sure that a value can be written in a place.
    ///
    /// - Returns: Whether it can; if not, the record is left to Foundation.
    @inline(__always)
    mutating func claim(depth: Int, start: Int) -> Bool {
        if isVacant(depth: depth, start: start) { return true }
        giveUp()
        return false
    }

    /// Ends a value that has encoded itself, so that it stands there as a whole.
    ///
    /// A value that has written nothing is an empty object, as with Foundation, except for a record as a whole, which has
    /// to write something: Foundation tells what is wrong with it.
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
