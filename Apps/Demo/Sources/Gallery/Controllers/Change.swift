import Boutique

/// The kinds of change that an open page is notified of.
enum Change: String, Sendable, CaseIterable {
    case favourites
    case albums
    case easel
    case account
    case preferences
    case availability
    case notice
    /// What waits to be synchronized, and conflicts.
    case sync
    /// Pictures of the archive, of which a page shows a window.
    case archive
    /// No change: the connection is alive.
    case heartbeat
}

extension GalleryControllers {

    /// Posts all changes to a mailbox until the task is cancelled. It begins with one change of each kind.
    ///
    /// - Parameters:
    ///   - mailbox: The mailbox.
    ///   - heartbeat: The interval at which to post ``Change/heartbeat``.
    func forwardChanges(to mailbox: Mailbox, heartbeat: Duration) async {
        await withTaskGroup { group in
            func forward(_ source: some AsyncSequence<some Sendable, Never> & Sendable, as change: Change) {
                group.addTask {
                    for await _ in source { mailbox.post(change) }
                }
            }
            forward(favourites.$favourites.events, as: .favourites)
            forward(albums.$albums.events, as: .albums)
            forward(easel.$exhibit.values, as: .easel)
            forward(easel.fetching.events, as: .easel)
            forward(account.$session.values, as: .account)
            forward(preferences.$theme.values, as: .preferences)
            forward(preferences.$sortOrder.values, as: .preferences)
            forward(availability.changes.events, as: .availability)
            forward(noticeboard.changes.events, as: .notice)
            if let sync { forward(sync.changes.events, as: .sync) }
            group.addTask {
                while (try? await Task.sleep(for: heartbeat)) != nil { mailbox.post(.heartbeat) }
            }
        }
    }

    /// Checks periodically whether the API responds, until the task is cancelled. Several concurrent calls make no more
    /// requests than one.
    ///
    /// - Parameter pause: The time to wait after the last request to the API, including requests of other callers.
    func checkAvailability(every pause: Duration) async {
        while (try? await Task.sleep(for: pause)) != nil {
            await availability.observeIfIdle(for: pause) { () throws(PictureAPIError) in try await api.check() }
        }
    }
}
