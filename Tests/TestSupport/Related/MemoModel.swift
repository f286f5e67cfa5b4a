import Bodega
package import BodegaTesting
package import Foundation

/// Memos and what they refer to, in arrays: what a naive program would have.
package struct MemoModel {
    package var memos: [Memo] = []
    package var binders: [Binder] = []
    package var stickers: [Sticker] = []
    package var authors: [Author] = []

    /// Identifiers, some of which belong to no item at a time.
    package static let binderIDs = (0..<8).map {
        UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0)))
    }
    /// Two of them are equal in Swift, and the keys of two items.
    package static let authorIDs = ["", "a", "\u{E9}", "e\u{301}", "x\u{0}y", "\"", "\u{301}", "\u{1F600}"]
    package static let names = ["Work", "Home", "\u{E9}", "e\u{301}", ""]

    package init() {}

    /// Makes a random change, of the model and of the storages.
    package mutating func change(_ storages: MemoStorages, using random: inout SeededGenerator) async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5:
            let new = (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.memo(using: &random) }
            for memo in new { Self.put(memo, in: &memos) { $0.key == memo.key } }
            try await storages.memos.store(new.map { ($0.key, $0) })
        case 5..<7:
            let removed = Set((0..<4).map { _ in CacheKey("\(Int.random(in: 0..<40, using: &random))") })
            memos.removeAll { removed.contains($0.key) }
            try await storages.memos.removeObject(forKeys: Array(removed))
        case 7..<9:
            let binder = Binder(
                Self.binderIDs.any(using: &random), Self.names.any(using: &random))
            Self.put(binder, in: &binders) { $0.key == binder.key }
            try await storages.binders.store(binder, forKey: binder.key)
        case 9:
            let id = Self.binderIDs.any(using: &random)
            binders.removeAll { $0.id == id }
            try await storages.binders.removeObject(forKey: CacheKey(id.uuidString))
        case 10:
            let sticker = Sticker(.random(in: 0..<6, using: &random), Self.names.any(using: &random))
            Self.put(sticker, in: &stickers) { $0.key == sticker.key }
            try await storages.stickers.store(sticker, forKey: sticker.key)
        default:
            let author = Author(Self.authorIDs.any(using: &random), .random(in: 0..<3, using: &random))
            Self.put(author, in: &authors) { $0.key == author.key }
            try await storages.authors.store(author, forKey: author.key)
        }
    }

    private static func put<Item>(_ item: Item, in items: inout [Item], _ isSame: (Item) -> Bool) {
        if let place = items.firstIndex(where: isSame) { items[place] = item } else { items.append(item) }
    }

    private static func memo(using random: inout SeededGenerator) -> Memo {
        Memo(
            .random(in: 0..<40, using: &random), names.any(using: &random),
            in: Bool.random(using: &random) ? binderIDs.any(using: &random) : nil,
            stickers: (0..<Int.random(in: 0...4, using: &random)).map { _ in .random(in: 0..<6, using: &random) },
            author: authorIDs.any(using: &random))
    }

    // MARK: Naive answers

    /// The memos by title; those with equal titles in insertion order.
    package var byTitle: [Memo] {
        memos.enumerated().sorted { ($0.element.title, $0.offset) < ($1.element.title, $1.offset) }.map(\.element)
    }

    package func binder(of memo: Memo) -> Binder? { binders.first { $0.id == memo.binderID } }

    package func stickers(of memo: Memo) -> [Sticker] {
        memo.stickerIDs.compactMap { id in stickers.first { $0.id == id } }
    }

    package func author(of memo: Memo) -> Author? {
        authors.first { $0.id.utf8.elementsEqual(memo.author.utf8) }
    }

    package func memos(of binder: Binder) -> [Memo] { memos.filter { $0.binderID == binder.id } }

    package func memos(of sticker: Sticker) -> [Memo] { memos.filter { $0.stickerIDs.contains(sticker.id) } }

    package func memos(of author: Author) -> [Memo] {
        memos.filter { $0.author.utf8.elementsEqual(author.id.utf8) }
    }
}

extension Array {
    /// A random element.
    fileprivate func any(using random: inout SeededGenerator) -> Element { self[.random(in: indices, using: &random)] }
}
