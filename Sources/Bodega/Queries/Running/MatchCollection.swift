/// A collector that an engine passes items to.
///
/// @unchecked because an engine passes on items one at a time, and the matches are taken after the last one.
final class MatchCollection<Match>: @unchecked Sendable {
    var collector: MatchCollector<Match>

    init(_ collector: MatchCollector<Match>) { self.collector = collector }

    @Sendable func receive(_ scan: Int, _ entry: StorageItem) throws -> Bool { try collector.receive(scan, entry) }
}

/// An item that may match, with its place in the result.
struct QueryCandidate: Sendable {
    var place: QueryPlace
    var entry: StorageItem
    /// Whether it matches for sure if it can be decoded.
    var isMatch: Bool
}
