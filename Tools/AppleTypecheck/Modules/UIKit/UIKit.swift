// The declarations of UIKit that the sources use: none yet.
