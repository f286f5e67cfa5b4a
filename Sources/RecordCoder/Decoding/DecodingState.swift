import Foundation

/// The state that the decoders and containers of one value share.
///
/// A state is reused for one value after another. Its mutable fields are behind one pointer, because Swift checks each
/// access to a class's variable for exclusivity at run time.
final class DecodingState {

    struct Fields {
        var tape = Tape()
        /// The types that are decoded without their `init(from:)`.
        let types = TypeCache<(any TapeDecodable.Type)?>()
        /// An ``ObjectContainerMaker`` for each type of keys.
        let makers = TypeCache<AnyObject>()
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// Whether decoding met a case that only Foundation handles, so that the result is discarded.
        var isForFoundation = false
        /// The members of objects whose names can't be compared byte by byte, keyed by the object's token.
        var members: [Int: [String: Int]] = [:]
        /// The keys that decoded members, keyed by the members' values, where the name alone doesn't determine the key.
        var keys: [Int: any CodingKey] = [:]
        /// The position of each token; empty until a path is requested.
        var places: [TokenPlace] = []
        /// Foundation's errors for values of the wrong kind.
        var mismatches: [MismatchKind: DecodingError] = [:]
    }

    /// Initialized for the lifetime of the state.
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

    /// Returns a state to the pool unless an escaped decoder or container refers to it, or its buffers are large.
    private static func recycle(_ state: consuming DecodingState) {
        guard isKnownUniquelyReferenced(&state), !state.fields.pointee.tape.isLarge else { return }
        if !state.fields.pointee.userInfo.isEmpty { state.fields.pointee.userInfo = [:] }
        state.forget()
        pool.put(consume state)
    }

    /// Replaces a state with a new one if an escaped decoder or container refers to it, or its buffers are large.
    @inline(__always)
    static func renewIfShared(_ state: inout DecodingState) {
        if isKnownUniquelyReferenced(&state), !state.fields.pointee.tape.isLarge { return }
        let renewed = DecodingState()
        renewed.fields.pointee.userInfo = state.fields.pointee.userInfo
        state = renewed
    }

    /// Discards the facts about the previous text.
    @inline(__always)
    private func forget() {
        fields.pointee.isForFoundation = false
        if !fields.pointee.members.isEmpty { fields.pointee.members = [:] }
        if !fields.pointee.keys.isEmpty { fields.pointee.keys = [:] }
        if !fields.pointee.places.isEmpty { fields.pointee.places = [] }
    }

    /// Copies a text and scans it.
    ///
    /// - Returns: Whether the text can be decoded without Foundation.
    @inline(__always)
    func load(_ data: Data) -> Bool {
        forget()
        return data.withUnsafeBytes { text in
            guard text.count <= Tape.maximumCount else { return false }
            fields.pointee.tape.load(text)
            return fields.pointee.tape.scan()
        }
    }

    /// The first byte of a scalar's text; for a string, the byte after the quotation mark.
    @inline(__always)
    func text(of token: Token) -> UnsafePointer<UInt8> {
        // In bounds: the token was scanned in this text.
        UnsafePointer(fields.pointee.tape.bytes + Int(token.start))
    }
}
