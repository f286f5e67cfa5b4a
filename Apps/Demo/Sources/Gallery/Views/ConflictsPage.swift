import BodegaSync
import Boutique
import Foundation

/// The page of a synchronized gallery with what the user has to decide.
struct ConflictsPage: Page {
    let template = "conflicts"
    let chrome: Chrome
    let conflicts: [ConflictView]
    /// `nil` if there are none, so that a template can test it.
    let refusals: Refusals?
    /// Whether there is nothing to decide.
    let isEmpty: Bool

    /// The changes that the server refuses.
    struct Refusals: Sendable {
        let changes: [Refusal]
    }

    /// A change that the server refuses.
    struct Refusal: Sendable {
        let what: String
        let reason: String
    }
}

extension ConflictsPage {
    /// Reads the values from the controllers.
    @MainActor
    init(_ sync: SyncController, _ controllers: GalleryControllers, apiIsOn: Bool) {
        chrome = Chrome(title: "Conflicts · Emporium Gallery", controllers, apiIsOn: apiIsOn)
        let albums = controllers.albums.$albums
        conflicts = sync.conflicts.map { conflict in
            ConflictView(conflict, now: albums[conflict.albumID], controllers.favourites.$favourites)
        }
        let refused = sync.refusals.map { change in
            Refusal(what: change.collection.itemName, reason: change.failure?.message ?? "")
        }
        refusals = refused.isEmpty ? nil : Refusals(changes: refused)
        isEmpty = conflicts.isEmpty && refused.isEmpty
    }
}

/// A conflict, with the versions side by side.
struct ConflictView: Sendable {
    let id: String
    let heading: String
    let explanation: String
    let versions: [Version]

    /// A version of the album.
    struct Version: Sendable {
        let title: String
        /// The name of the side, `nil` for what is shown now.
        let side: String?
        /// Whether it can be taken.
        let canBeUsed: Bool
        /// The album, `nil` if it is removed.
        let album: AlbumCard?
        /// Whether any version of the album has pictures.
        let hasPictures: Bool
        let hasDisputedName: Bool
        let hasDisputedPictures: Bool
    }
}

extension ConflictView {
    /// Creates a view.
    ///
    /// - Parameters:
    ///   - conflict: The conflict.
    ///   - now: The album as it is shown, `nil` if it is removed.
    ///   - favourites: The favourites, for the covers.
    @MainActor
    init(_ conflict: AlbumConflict, now: Album?, _ favourites: Store<Favourite>) {
        id = conflict.id.uuidString
        heading = (now ?? conflict.local ?? conflict.remote)?.name ?? ""
        explanation =
            if conflict.disputed.contains(.existence) {
                "One device has removed this album, the other one has changed it."
            } else if conflict.disputed.isSuperset(of: [.name, .pictures]) {
                "Both devices have given this album another name and other pictures."
            } else if conflict.disputed.contains(.name) {
                "Both devices have renamed this album."
            } else {
                "Both devices have changed the pictures of this album."
            }
        let hasPictures = [now, conflict.local, conflict.remote].contains { $0?.favouriteIDs.isEmpty == false }
        func version(_ title: String, _ album: Album?, _ side: MergeSide?) -> Version {
            Version(
                title: title, side: side?.rawValue,
                canBeUsed: side.map { conflict.resolved(for: $0, from: now) != now } ?? false,
                album: album.map { AlbumCard($0, favourites) },
                hasPictures: hasPictures, hasDisputedName: conflict.disputed.contains(.name),
                hasDisputedPictures: conflict.disputed.contains(.pictures))
        }
        versions = [
            version("This device", conflict.local, .local), version("The other device", conflict.remote, .remote),
            version("Shown now", now, nil),
        ]
    }
}

extension String {
    /// What an item of the collection with this name is, for people.
    fileprivate var itemName: String {
        switch self {
        case Album.collection: "An album"
        case Favourite.collection: "A favourite"
        default: "The picture of a favourite"
        }
    }
}
