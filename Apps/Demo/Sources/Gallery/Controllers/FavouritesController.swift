import Boutique
import Foundation

/// Adds, removes and restores favourites.
///
/// A favourite is in the store and its bytes are in the ``ImageStore``, so there are two writes. The bytes are written
/// first and removed last, so each favourite has its bytes whenever the program is killed. Orphaned bytes can remain;
/// they are removed at the next start.
@MainActor
final class FavouritesController {
    /// The favourites, in the order in which they were added.
    @Stored var favourites: [Favourite]

    private let images: ImageStore
    private let now: @Sendable () -> Date

    /// The favourites that can be restored. Their bytes are kept until other favourites are removed.
    private(set) var removed: [Favourite] = []

    /// The maximum number of favourites; the page shows all of them.
    static let limit = 500

    /// Creates a controller on a store.
    init(
        _ store: Store<Favourite>, images: ImageStore, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        _favourites = Stored(in: store)
        self.images = images
        self.now = now
    }

    /// The outcome of adding a favourite.
    enum Addition: Sendable {
        case added
        /// The picture is a favourite already.
        case wasThere
        /// The maximum number of favourites is reached.
        case isFull
        /// The bytes of the picture have been removed.
        case isGone
    }

    /// Adds an exhibit to the favourites.
    ///
    /// - Throws: A `StorageError`. The exhibit is not added then.
    func add(_ exhibit: Exhibit) async throws -> Addition {
        guard let image = try await images.copy(exhibit.image) else { return .isGone }
        let favourite = Favourite(picture: exhibit.picture, image: image, addedAt: now())
        do {
            // One transaction, so that two simultaneous clicks add one favourite.
            let addition = try await $favourites.transaction { favourites -> Addition in
                if favourites.contains(id: favourite.id) { return .wasThere }
                if favourites.count >= Self.limit { return .isFull }
                favourites.insert(favourite)
                return .added
            }
            if addition != .added { await images.discard([image]) }
            return addition
        } catch {
            await images.discard([image])
            throw error
        }
    }

    /// Removes a favourite.
    ///
    /// - Returns: The removed favourite; `nil` if there is no such favourite.
    /// - Throws: A `StorageError`. Nothing was removed then.
    func remove(id: String) async throws -> Favourite? {
        let favourite = try await $favourites.transaction { favourites -> Favourite? in
            let favourite = favourites[id]
            favourites.remove(id: id)
            return favourite
        }
        if let favourite { await offerUndo(of: [favourite]) }
        return favourite
    }

    /// Removes all favourites.
    ///
    /// - Returns: The number of removed favourites.
    /// - Throws: A `StorageError`. Nothing was removed then.
    func removeAll() async throws -> Int {
        let all = try await $favourites.transaction { favourites -> [Favourite] in
            let all = favourites.items
            favourites.removeAll()
            return all
        }
        if !all.isEmpty { await offerUndo(of: all) }
        return all.count
    }

    /// Restores the favourites that were removed last.
    ///
    /// - Returns: The number of restored favourites. A favourite that has been added again in the meantime is not
    ///   changed.
    /// - Throws: A `StorageError`. Nothing was restored then.
    func undo() async throws -> Int {
        let candidates = removed
        removed = []
        do {
            let returned = try await $favourites.transaction { favourites -> [Favourite] in
                let missing = candidates.filter { !favourites.contains(id: $0.id) }
                favourites.insert(missing)
                return missing
            }
            let kept = Set(returned.map(\.image))
            await images.discard(candidates.map(\.image).filter { !kept.contains($0) })
            return returned.count
        } catch {
            removed += candidates
            throw error
        }
    }

    private func offerUndo(of favourites: [Favourite]) async {
        let former = removed
        removed = favourites
        await images.discard(former.map(\.image))
    }
}
