import Bodega
import Testing

@testable import Boutique

/// What a store makes of what a history tells.
@Suite struct HistoryNewsTests {

    private let own = StorageOrigin()

    /// Changes as text: a key and `+` or `-`, with `!` behind it if it is an own one.
    private func changes(_ texts: String...) -> [StorageChange] {
        texts.map { text in
            StorageChange(
                key: CacheKey(String(text.prefix(1))),
                kind: text.contains("+") ? .written : .removed,
                origin: text.contains("!") ? own : nil
            )
        }
    }

    private func news(_ changes: [StorageChange]) -> HistoryNews {
        let items = StorageChangedItems(changes: changes, items: [], cursor: StorageCursor(rawValue: "1"))
        return HistoryNews(items, since: StorageCursor(rawValue: "0"), readBy: own)
    }

    @Test("What others have changed is told apart by the last own changes, or by none")
    func parts() {
        let one = news(changes("a+", "b+!", "c+", "d+!", "d-!", "e+"))
        #expect(one.othersAroundOwn.before == changes("a+", "c+"))
        #expect(one.othersAroundOwn.after == changes("e+"))
        #expect(one.changesOfOthers == changes("a+", "c+", "e+"))
        #expect(!news(changes("a+!", "b-!")).concernsOthers)
        #expect(!news([]).concernsOthers)
    }

    @Test("Own operations that have changed nothing are before those of others")
    func nothing() {
        #expect(news(changes("a+", "b-")).othersAroundOwn.before.isEmpty)
        #expect(news(changes("a+", "b-")).othersAroundOwn.after == changes("a+", "b-"))
    }

    @Test("Removing and then writing leads to the same items in the same order as the changes one by one")
    func outcome() {
        let outcome = NetChanges(changes("a+", "b+", "a-", "c-", "b+", "a+", "d+", "d-", "c+"))
        #expect(outcome.removed == ["a", "c", "d"].map { CacheKey($0) })
        #expect(outcome.written == ["b", "a", "c"].map { CacheKey($0) })
    }
}
