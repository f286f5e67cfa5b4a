import Foundation

/// Everything that the decoders and containers of one value share.
///
/// Used for one value after the other. What changes is behind one pointer, because each access to a variable of a class is
/// checked for exclusivity while the program runs.
final class DecodingState {

    struct Fields {
        /// The text and its tokens.
        var tape = Tape()
        /// How types are decoded without their `init(from:)`.
        let types = TypeCache<(any TapeDecodable.Type)?>()
        /// An ``ObjectContainerMaker`` for each type of keys.
        let makers = TypeCache<AnyObject>()
        /// The caller's context.
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// Whether something was met that only Foundation knows how to treat, so that the result doesn't count.
        var isForFoundation = false
        /// The members of objects whose names can't be compared byte by byte, by the object's token.
        var members: [Int: [String: Int]] = [:]
        /// The keys by which members were decoded, by the members' values, where the names don't tell all.
        var keys: [Int: any CodingKey] = [:]
        /// Where each token stands, if anybody has asked.
        var places: [TokenPlace] = []
        /// How Foundation describes a value of the wrong kind.
        var mismatches: [MismatchKind: DecodingError] = [:]
    }

    /// Initialised as long as the state exists.
    let fields: UnsafeMutablePointer<Fields>

    init() {
        fields = .allocate(capacity: 1)
        fields.initialize(to: Fields())
    }

    deinit {
        fields.pointee.tape.deallocate()
        fields.pointee.types.deallocate()
        fields.pointee.makers.deallocate()
        fields.deinitialize(count: 1)
        fields.deallocate()
    }

    /// States that nobody uses.
    private static let pool = Pool<DecodingState>(capacity: 16)

    /// Runs a closure with a state of its own.
    static func withState<Result>(
        userInfo: [CodingUserInfoKey: any Sendable],
        _ body: (inout DecodingState) throws -> Result
    ) rethrows -> Result {
        var state = pool.take() ?? DecodingState()
        if !userInfo.isEmpty { state.fields.pointee.userInfo = userInfo }
        let result: Result
        do {
            result = try body(&state)
        } catch {
            recycle(consume state)
            throw error
        }
        recycle(consume state)
        return result
    }

    /// Puts a state back into the pool, unless a decoder or container that has escaped keeps it, or it takes much memory.
    private static func recycle(_ state: consuming DecodingState) {
        guard isKnownUniquelyReferenced(&state), !state.fields.pointee.tape.isLarge else { return }
        if !state.fields.pointee.userInfo.isEmpty { state.fields.pointee.userInfo = [:] }
        state.forget()
        pool.put(consume state)
    }

    /// Replaces a state by a new one if a decoder or container that has escaped from its call still needs it, or if it takes
    /// much memory.
    @inline(__always)
    static func renewIfShared(_ state: inout DecodingState) {
        if isKnownUniquelyReferenced(&state), !state.fields.pointee.tape.isLarge { return }
        let renewed = DecodingState()
        renewed.fields.pointee.userInfo = state.fields.pointee.userInfo
        state = renewed
    }

    /// Forgets what it knows about the text before.
    @inline(__always)
    private func forget() {
        fields.pointee.isForFoundation = false
        if !fields.pointee.members.isEmpty { fields.pointee.members = [:] }
        if !fields.pointee.keys.isEmpty { fields.pointee.keys = [:] }
        if !fields.pointee.places.isEmpty { fields.pointee.places = [] }
    }

    /// Takes a text over and finds its tokens.
    ///
    /// - Returns: Whether it is one that can be decoded without Foundation.
    @inline(__always)
    func load(_ data: Data) -> Bool {
        forget()
        return data.withUnsafeBytes { text in
            guard text.count <= Tape.maximumCount else { return false }
            fields.pointee.tape.load(text)
            return fields.pointee.tape.scan()
        }
    }

    /// The first byte of a scalar's text, of a string behind its quotation mark.
    @inline(__always)
    func text(of token: Token) -> UnsafePointer<UInt8> {
        // The tape has found the token in its text, so what it spans is in the text.
        UnsafePointer(fields.pointee.tape.bytes + Int(token.start))
    }
}
