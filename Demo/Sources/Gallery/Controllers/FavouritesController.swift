import Boutique
import Foundation

/// The favourites: adds, removes and brings back.
///
/// A favourite is in the store and its bytes are in the ``ImageStore``, in two writes. The bytes are written first and
/// removed last. So whenever the program is killed, each favourite has its bytes. Bytes that nobody owns can be left; they
/// are removed at the next start.
@MainActor
final class FavouritesController {
    /// The favourites, in the order in which they were added.
    @Stored var favourites: [Favourite]

    private let images: ImageStore
    private let now: @Sendable () -> Date

    /// What can be brought back. Its bytes stay until then, or until something else is removed.
    private(set) var removed: [Favourite] = []

    /// How many favourites there can be; the page shows all of them.
    static let limit = 500

    /// Creates a controller on a store.
    init(
        _ store: Store<Favourite>, images: ImageStore, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        _favourites = Stored(in: store)
        self.images = images
        self.now = now
    }

    /// What adding came to.
    enum Addition: Sendable {
        case added
        /// It is a favourite already.
        case wasThere
        /// There are as many as there can be.
        case isFull
        /// Its bytes are gone.
        case isGone
    }

    /// Makes an exhibit a favourite.
    ///
    /// - Throws: A `StorageError`. It is no favourite then.
    func add(_ exhibit: Exhibit) async throws -> Addition {
        guard let image = try await images.copy(exhibit.image) else { return .isGone }
        let favourite = Favourite(picture: exhibit.picture, image: image, addedAt: now())
        do {
            // In one step, so that two clicks at once add one favourite.
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
    /// - Returns: What was removed; `nil` if there is no such favourite.
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
    /// - Returns: How many there were.
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

    /// Brings back what was removed last.
    ///
    /// - Returns: How many favourites came back. Those that were added again meanwhile stay as they are.
    /// - Throws: A `StorageError`. Nothing came back then.
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
