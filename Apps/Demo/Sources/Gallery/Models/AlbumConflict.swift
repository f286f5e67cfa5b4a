import Bodega
import BodegaSync
import Foundation

/// An album that this device and another one have changed in different ways.
struct AlbumConflict: Sendable, Identifiable {
    let id: StoredConflict.ID
    let albumID: Album.ID
    /// The version of this device, `nil` if the album was removed here.
    let local: Album?
    /// The version of the other device, `nil` if the album was removed there.
    let remote: Album?
    /// What both have changed.
    let disputed: Set<Part>

    /// A part of an album.
    enum Part: Sendable {
        case name, pictures
        /// Whether there is such an album.
        case existence
    }

    /// Reads a conflict.
    ///
    /// - Returns: `nil` if it is not one of albums.
    init?(_ stored: StoredConflict) {
        let versions = stored.conflict.versions
        guard versions.collection == Album.collection else { return nil }
        func album(_ data: Data?) -> Album? { data.flatMap { try? JSONObjectCoder.json.decode(Album.self, from: $0) } }
        (id, local, remote) = (stored.id, album(versions.local), album(versions.remote))
        guard let albumID = (local ?? remote)?.id else { return nil }
        self.albumID = albumID
        disputed = Set(
            stored.conflict.losses.map { loss in
                switch loss.path {
                case "$['name']": .name
                case "$['favouriteIDs']": .pictures
                default: .existence
                }
            })
    }

    /// The version of a device.
    subscript(side: MergeSide) -> Album? { side == .local ? local : remote }

    /// The album as it is, but with the disputed parts of a version. Other changes remain.
    ///
    /// - Parameters:
    ///   - side: The side whose version is taken.
    ///   - current: The album as it is; `nil` if it was removed.
    /// - Returns: The album, `nil` if there is to be none.
    func resolved(for side: MergeSide, from current: Album?) -> Album? {
        guard let version = self[side] else { return nil }
        guard var album = current else { return version }
        if disputed.contains(.name) { album.name = version.name }
        if disputed.contains(.pictures) { album.favouriteIDs = version.favouriteIDs }
        return album
    }
}
